"""Explanations of missing answers: the stage that lost them, and the setting to change."""
