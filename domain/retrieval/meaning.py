"""
Share of the vectors in relevance, for a question in other words than the notes.

Scores of words are scaled by the best result of the question, so the best of bad matches counts like a good one: "what keeps
the slimy things off my vegetables" finds notes by chance in "keeps" and "things". What tells such questions apart is how much
of the question its best match covers: the median is 0.3 for paraphrases in the vaults of `tests/data`, 0.9 for the words of
the notes, and 1.2 on LoCoMo, where 90 % are above 0.7.
"""

from __future__ import annotations

from types import MappingProxyType

from clawmem.domain.retrieval.relevance import family

# Coverage from which words alone decide, by family of embedders. Better vectors may contradict better matches.
COVERED = MappingProxyType({"minilm:384": 1.1})
COVERED_OTHERWISE = 0.7  # static vectors, and models that were not measured


def meaning_share(coverage: float, fingerprint: str) -> float:
    """
    Return the share of the vectors, in [0, 1]: 1 if no word matches, falling linearly to 0 at the coverage that suffices.

    Args:
        coverage: BM25 of the best document as a share of the summed rarities of the question's words, not negative.
        fingerprint: Fingerprint of the embedder.
    """
    return max(0.0, 1.0 - coverage / COVERED.get(family(fingerprint), COVERED_OTHERWISE))


def by_meaning(relevance: float, similarity: float, share: float) -> float:
    """Return the mean of *relevance* and *similarity*, both in [0, 1], in which *similarity* has the weight *share*."""
    return (1.0 - share) * relevance + share * similarity
