"""Which frames belong together: motion patterns, motion pairs, neighbour pairs and splits."""

from egoequiv.pairs.leakage import closeness, count_leaked, count_revisited
from egoequiv.pairs.mining import MinedPatterns, Mining, mine_patterns
from egoequiv.pairs.motion import MotionPairs, find_motion_pairs, thin_out
from egoequiv.pairs.near_copies import count_near_copies, near_copies_in_words
from egoequiv.pairs.neighbours import NeighbourPairs, are_neighbours, sample_neighbour_pairs
from egoequiv.pairs.patterns import (
    DeclaredPatterns,
    MotionPatterns,
    atomic_names,
    composite_names,
    declare_patterns,
)
from egoequiv.pairs.splits import Split, draw_labelled, make_split, split_frames

__all__ = [
    "DeclaredPatterns",
    "MinedPatterns",
    "Mining",
    "MotionPairs",
    "MotionPatterns",
    "NeighbourPairs",
    "Split",
    "are_neighbours",
    "atomic_names",
    "closeness",
    "composite_names",
    "count_leaked",
    "count_near_copies",
    "count_revisited",
    "declare_patterns",
    "draw_labelled",
    "find_motion_pairs",
    "make_split",
    "mine_patterns",
    "near_copies_in_words",
    "sample_neighbour_pairs",
    "split_frames",
    "thin_out",
]
