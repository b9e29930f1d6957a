"""Write conversations of any format in the canonical form of `turnlint schema transcript`."""

from turnlint.canonical_form.form import Form, write_form
from turnlint.canonical_form.writing import Refusal, write_forms

__all__ = ["Form", "Refusal", "write_form", "write_forms"]
