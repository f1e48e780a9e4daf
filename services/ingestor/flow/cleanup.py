"""Taking the vectors of deleted versions out of the vector store."""

from services.ingestor.domain.reasons import reason_of
from services.ingestor.ports import ClaimedJob, Tools
from services.shared.contracts.ids import VersionId


class Cleanup:
    """Runs CLEANUP jobs. Nothing could answer from these vectors any more; this gives their space back."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    def run(self, job: ClaimedJob) -> None:
        """Delete the named versions' vectors, except of one that was made live again meanwhile."""
        tools = self._tools
        named = [VersionId(str(version)) for version in job.payload.get("version_ids", [])]
        try:
            live = tools.ledger.live_versions(job.space, named)
            gone = [version for version in named if version not in live]
            if gone:
                tools.vectors.delete_versions(job.space, gone)
        except tools.time_up:
            raise
        except Exception as error:
            tools.ledger.fail(job, reason_of(error, f"clean-up {job.id}"))
            return
        tools.ledger.succeed(job, {"versions": len(gone)}, None)
