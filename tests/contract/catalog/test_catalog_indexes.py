"""One serving index a space, with the embedder that all its vectors come from."""

from functools import partial

from services.shared.catalog import indexes
from services.shared.catalog.engine import Catalog
from services.shared.catalog.indexes import EmbedderSpec
from services.shared.contracts.ids import IndexId
from tests.contract.catalog.building import NOW, OTHER, SPACE, at_once

EMBEDDER = EmbedderSpec("mini", "53aa", 384, "query: ", "", 256)


def test_an_index_is_made_once(catalog: Catalog) -> None:
    with catalog.write() as tx:
        assert indexes.serving(tx, SPACE) is None
        made = indexes.create(tx, SPACE, id=IndexId("abc"), embedder=EMBEDDER, now=NOW)
        other = EmbedderSpec("big", "77", 1024, "", "", 512)
        again = indexes.create(tx, SPACE, id=IndexId("def"), embedder=other, now=NOW)
    with catalog.read() as tx:
        assert made == again == indexes.serving(tx, SPACE)
    assert (made.collection, made.embedder, made.created_at) == ("ragstone-abc", EMBEDDER, NOW)


def test_workers_that_make_it_together_agree(catalog: Catalog) -> None:
    def make(n: int) -> IndexId:
        with catalog.write() as tx:
            return indexes.create(tx, SPACE, id=IndexId(f"i{n}"), embedder=EMBEDDER, now=NOW).id

    assert len(set(at_once([partial(make, n) for n in range(5)]))) == 1


def test_spaces_have_indexes_of_their_own(catalog: Catalog) -> None:
    with catalog.write() as tx:
        indexes.create(tx, SPACE, id=IndexId("a"), embedder=EMBEDDER, now=NOW)
        assert indexes.serving(tx, OTHER) is None
        indexes.create(tx, OTHER, id=IndexId("b"), embedder=EMBEDDER, now=NOW)
        assert [index.id for index in indexes.all_serving(tx)] == ["a", "b"]
