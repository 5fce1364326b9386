"""Finding recipes in programs: rooted matching on the canonical graph, and the ops that carry a match."""
