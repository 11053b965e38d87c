import shutil

from clawmem.ports.errors import ExtraMissing
from clawmem.ports.indexes import Backend, IndexPlace, LexicalIndex


def open_lexical(place: IndexPlace) -> LexicalIndex:
    """Open the lexical index in the folder of *place*. Raises `ExtraMissing` if tantivy is not installed."""
    try:
        from clawmem.adapters.tantivy.lexical_index import TantivyLexicalIndex
    except ModuleNotFoundError as error:
        raise ExtraMissing("tantivy", extra="tantivy") from error
    return TantivyLexicalIndex(place.folder, read_only=place.read_only)


def discard(place: IndexPlace) -> None:
    """Delete the folder of *place* with everything in it; works without tantivy."""
    shutil.rmtree(place.folder, ignore_errors=True)


BACKEND = Backend("tantivy", lexical=open_lexical, discard=discard)
