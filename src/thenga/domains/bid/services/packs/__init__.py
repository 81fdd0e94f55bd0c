"""Packs: pins, findings, the sealed archive, the proof of submission; files."""
