"""Errors between a prompt and its reply, beside the errors of every web service.

Three sorts: an error passes (``transient``: the request is sent again), stops one prompt (the error of its reply), or
stops all (``fatal``).
"""

from __future__ import annotations

from srtk_plugin_web import DeniedError, RefusedError, RequestError


class RefusedPromptError(RefusedError):
    """The server does not answer this prompt; ``about`` has its reason: a field of the request, a code, its words."""

    def __init__(self, cause: str, about: str = "") -> None:
        self.about_field = about
        super().__init__(cause)


class TooLongError(RefusedPromptError):
    """The prompt and its reply do not fit into the model."""


class SpentError(RequestError):
    """The budget of the run is spent."""


class SetUpError(DeniedError):
    """Key, model, address or a setting is wrong: no prompt will be answered."""

    fatal = True


class ModelError(SetUpError):
    """The server does not have the model, or nothing at this address."""


class DownError(RequestError):
    """The server failed, or could not be reached, so often that nothing more is sent for a while."""

    fatal = True
