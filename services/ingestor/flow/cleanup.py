"""Taking the vectors of deleted versions out of the vector store."""

from services.ingestor.flow.outages import fail_or_put_off
from services.ingestor.ports.jobs import ClaimedJob
from services.ingestor.ports.tools import Tools
from services.shared.contracts.ids import VersionId


class Cleanup:
    """Runs CLEANUP jobs. Nothing could answer from these vectors any more; this gives their space back."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    def run(self, job: ClaimedJob) -> None:
        """Delete the named versions' vectors, except of one that was sent again meanwhile."""
        tools = self._tools
        named = [VersionId(str(version)) for version in job.payload.get("version_ids", [])]
        try:
            needed = tools.ledger.needed_versions(job.space, named)
            gone = [version for version in named if version not in needed]
            if gone:
                tools.vectors.delete_versions(job.space, gone)
        except tools.time_up:
            raise
        except Exception as error:
            fail_or_put_off(tools.ledger, job, error, f"clean-up {job.id}")
            return
        tools.ledger.succeed(job, {"versions": len(gone)}, None)
