"""The vocabulary of a reference system for fused ops, tag by tag, and how each is spelled in upstream ops.

A spelling is an `xfuse.recipe` at its core rank, in one of the libraries beside this file or among the shipped ones.
"""
