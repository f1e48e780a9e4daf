"""A catalog that is in shape is opened without Alembic, which most starts would load for nothing."""

import subprocess
import sys

from alembic.config import Config
from alembic.script import ScriptDirectory

from services.shared.catalog.engine import Catalog
from services.shared.catalog.shape import MIGRATIONS

START = """
import sys
from services.shared.catalog.engine import Catalog
Catalog(sys.argv[1]).migrate()
print("alembic" in sys.modules)
"""


def loads_alembic(url: str) -> bool:
    started = subprocess.run([sys.executable, "-c", START, url], capture_output=True, text=True, check=True)
    return started.stdout.strip() == "True"


def test_alembic_is_loaded_only_where_there_is_something_to_do(bare_url: str) -> None:
    assert loads_alembic(bare_url)
    assert not loads_alembic(bare_url)


def test_files_are_named_by_their_revision_and_the_last_is_the_newest(catalog: Catalog) -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    scripts = ScriptDirectory.from_config(config)
    names = sorted(path.name for path in (MIGRATIONS / "versions").glob("[0-9]*_*.py"))
    assert [name.split("_")[0] for name in names] == sorted(one.revision for one in scripts.walk_revisions())
    assert names[-1].split("_")[0] == scripts.get_current_head()
    with catalog.read() as connection:
        found = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalars().all()
    assert found == [scripts.get_current_head()]
