"""Finding fusible clusters that nobody named, and making recipes of them."""
