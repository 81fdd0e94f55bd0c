"""Places of South Africa as the wire names them."""

from typing import Annotated, Literal

from thenga.kernel.values.fields import matching

Province = Literal["EC", "FS", "GP", "KZN", "LP", "MP", "NW", "NC", "WC"]
# As the Municipal Demarcation Board gives them: `CPT`, `EKU`, `WC024`.
MunicipalityCode = Annotated[str, matching("^[A-Z]{2,3}[0-9]{0,3}$", 6)]
