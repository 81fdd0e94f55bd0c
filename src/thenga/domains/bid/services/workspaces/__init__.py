"""Workspaces: who may see one and its price, the tender it rests on, its moves and comments."""
