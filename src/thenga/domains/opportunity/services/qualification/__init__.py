"""Qualification and recommendation: the judgement of one company."""
