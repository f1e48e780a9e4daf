"""`python -m services.local` is the `ragstone` command."""

from services.local.cli import main

main()
