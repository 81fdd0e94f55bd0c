"""The person to ask at a supplier outside of the platform."""

from typing import Annotated

from pydantic import Field

from thenga.kernel.values.fields import Email, Name, PhoneNumber
from thenga.kernel.values.shapes import Shape


class Contact(Shape):
    """Person to ask at an external supplier; only the customer who wrote it reads it."""

    name: Annotated[Name | None, Field(description="Name of the person.")] = None
    email: Annotated[Email | None, Field(description="Email address.")] = None
    phone: Annotated[PhoneNumber | None, Field(description="Phone number.")] = None
