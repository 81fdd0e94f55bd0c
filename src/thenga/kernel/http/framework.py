"""FastAPI beyond its documented interface: all that the kernel uses (test_framework.py)."""

from fastapi.dependencies.models import Dependant as Dependant
from fastapi.openapi.utils import get_fields_from_routes as get_fields_from_routes
