"""Scores to what people and programs read: terminal, JSON, JUnit, CSV, HTML."""
