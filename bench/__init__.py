"""Benchmarks: speed, as ratios to a reference measured in the same run, and retrieval quality."""
