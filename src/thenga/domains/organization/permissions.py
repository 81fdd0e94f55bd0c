"""What one may do in Organization; roles that hold these are Identity's data."""

from enum import StrEnum

from thenga.kernel.declare.permission import Audience, Granted, Sensitivity

PERSON, TENANT = (Audience.PERSON,), (Audience.TENANT,)
# Whoever checks is not of the company; other domains report their checks by port.
_CHECKERS = (Audience.PLATFORM,)
_BOTH = (Audience.TENANT, Audience.PLATFORM)
_MACHINES = (Audience.TENANT, Audience.SERVICE)

_READERS = (
    "bid_manager",
    "contributor",
    "approver",
    "compliance_officer",
    "finance_manager",
    "viewer",
)
_KEEPERS = ("bid_manager", "contributor", "compliance_officer")
_CURATORS = ("platform_curator",)


class Permission(StrEnum):
    """Permissions of Organization."""

    ORGANIZATION_CREATE = "organization:organization:create"
    ORGANIZATION_READ = "organization:organization:read"
    PROFILE_READ = "organization:profile:read"
    PROFILE_UPDATE = "organization:profile:update"
    PROFILE_RESOLVE = "organization:profile:resolve"
    PROFILE_VERIFY = "organization:profile:verify"
    BANK_UPDATE = "organization:bank:update"
    BANK_REVEAL = "organization:bank:reveal"
    TAX_REVEAL = "organization:tax:reveal"
    OWNERSHIP_UPDATE = "organization:ownership:update"
    DISCLOSURE_READ = "organization:disclosure:read"
    SUGGESTION_PROPOSE = "organization:suggestion:propose"
    SUGGESTION_READ = "organization:suggestion:read"
    SUGGESTION_DECIDE = "organization:suggestion:decide"
    CATALOGUE_READ = "organization:catalogue:read"
    CLOCK_MOVE = "organization:clock:move"
    USER_READ = "organization:user:read"
    USER_CREATE = "organization:user:create"
    USER_UPDATE = "organization:user:update"
    USER_ARCHIVE = "organization:user:archive"
    DIRECTOR_READ = "organization:director:read"
    DIRECTOR_CREATE = "organization:director:create"
    DIRECTOR_UPDATE = "organization:director:update"
    DIRECTOR_ARCHIVE = "organization:director:archive"
    DIRECTOR_VERIFY = "organization:director:verify"
    DIRECTOR_ERASE = "organization:director:erase"
    DIRECTOR_REVEAL = "organization:director:reveal"
    CONTACT_READ = "organization:contact:read"
    CONTACT_CREATE = "organization:contact:create"
    CONTACT_UPDATE = "organization:contact:update"
    CONTACT_ARCHIVE = "organization:contact:archive"
    CONTACT_ERASE = "organization:contact:erase"
    ADDRESS_READ = "organization:address:read"
    ADDRESS_CREATE = "organization:address:create"
    ADDRESS_UPDATE = "organization:address:update"
    ADDRESS_ARCHIVE = "organization:address:archive"
    EQUIPMENT_READ = "organization:equipment:read"
    EQUIPMENT_CREATE = "organization:equipment:create"
    EQUIPMENT_UPDATE = "organization:equipment:update"
    EQUIPMENT_ARCHIVE = "organization:equipment:archive"
    SERVICE_READ = "organization:service:read"
    SERVICE_CREATE = "organization:service:create"
    SERVICE_UPDATE = "organization:service:update"
    SERVICE_ARCHIVE = "organization:service:archive"
    PRODUCT_READ = "organization:product:read"
    PRODUCT_CREATE = "organization:product:create"
    PRODUCT_UPDATE = "organization:product:update"
    PRODUCT_ARCHIVE = "organization:product:archive"
    CAPABILITY_READ = "organization:capability:read"
    CAPABILITY_CREATE = "organization:capability:create"
    CAPABILITY_UPDATE = "organization:capability:update"
    CAPABILITY_ARCHIVE = "organization:capability:archive"
    CAPABILITY_VERIFY = "organization:capability:verify"
    FLEET_ASSET_READ = "organization:fleet_asset:read"
    FLEET_ASSET_CREATE = "organization:fleet_asset:create"
    FLEET_ASSET_UPDATE = "organization:fleet_asset:update"
    FLEET_ASSET_ARCHIVE = "organization:fleet_asset:archive"
    PAST_PROJECT_READ = "organization:past_project:read"
    PAST_PROJECT_CREATE = "organization:past_project:create"
    PAST_PROJECT_UPDATE = "organization:past_project:update"
    PAST_PROJECT_ARCHIVE = "organization:past_project:archive"
    PAST_PROJECT_VERIFY = "organization:past_project:verify"
    CLIENT_REFERENCE_READ = "organization:client_reference:read"
    CLIENT_REFERENCE_CREATE = "organization:client_reference:create"
    CLIENT_REFERENCE_UPDATE = "organization:client_reference:update"
    CLIENT_REFERENCE_ARCHIVE = "organization:client_reference:archive"
    CLIENT_REFERENCE_ERASE = "organization:client_reference:erase"
    PREFERENCES_READ = "organization:preferences:read"
    PREFERENCES_UPDATE = "organization:preferences:update"
    GRAPH_READ = "organization:graph:read"
    HEALTH_READ = "organization:health:read"


GRANTED = (
    Granted(Permission.ORGANIZATION_CREATE, "Found an organization", PERSON),
    Granted(
        Permission.ORGANIZATION_READ,
        "Read the organization",
        TENANT,
        _READERS,
        while_suspended=True,
    ),
    Granted(
        Permission.PROFILE_READ,
        "Read facts and their origins",
        TENANT,
        _READERS,
        while_suspended=True,
    ),
    Granted(Permission.PROFILE_UPDATE, "State facts of the profile", TENANT, _KEEPERS),
    Granted(
        Permission.PROFILE_RESOLVE, "Decide which statement counts", TENANT, ("compliance_officer",)
    ),
    Granted(Permission.PROFILE_VERIFY, "Check facts of a company", _CHECKERS, _CURATORS),
    Granted(
        Permission.BANK_UPDATE,
        "Change the bank account",
        TENANT,
        ("finance_manager",),
        sensitivity=Sensitivity.SENSITIVE,
    ),
    Granted(
        Permission.BANK_REVEAL,
        "Use the bank account in documents",
        TENANT,
        ("finance_manager",),
        sensitivity=Sensitivity.SENSITIVE,
    ),
    Granted(
        Permission.TAX_REVEAL,
        "Use tax numbers in documents",
        TENANT,
        ("bid_manager", "compliance_officer", "finance_manager"),
        sensitivity=Sensitivity.SENSITIVE,
    ),
    Granted(
        Permission.DISCLOSURE_READ,
        "Read which sealed values were disclosed",
        TENANT,
        ("compliance_officer",),
        while_suspended=True,
    ),
    Granted(
        Permission.OWNERSHIP_UPDATE, "State who owns the company", TENANT, ("compliance_officer",)
    ),
    Granted(Permission.SUGGESTION_PROPOSE, "Suggest facts, as a machine", _MACHINES),
    Granted(Permission.SUGGESTION_READ, "Read suggestions about facts", TENANT, _READERS),
    Granted(Permission.SUGGESTION_DECIDE, "Accept or reject suggestions", TENANT, _KEEPERS),
    Granted(Permission.CATALOGUE_READ, "Read the catalogues", PERSON, while_suspended=True),
    Granted(Permission.CLOCK_MOVE, "Move the clock of a sandbox", TENANT),
    Granted(Permission.USER_READ, "Read who works here", TENANT, _READERS, while_suspended=True),
    Granted(Permission.USER_CREATE, "Describe somebody who works here", TENANT, _KEEPERS),
    Granted(
        Permission.USER_UPDATE, "Change what is said of somebody who works here", TENANT, _KEEPERS
    ),
    Granted(Permission.USER_ARCHIVE, "Archive what is said of somebody", TENANT, _KEEPERS),
    Granted(
        Permission.DIRECTOR_READ,
        "Read the directors",
        _BOTH,
        (*_READERS, "platform_curator"),
        while_suspended=True,
    ),
    Granted(Permission.DIRECTOR_CREATE, "Add directors", TENANT, _KEEPERS),
    Granted(Permission.DIRECTOR_UPDATE, "Change directors", _BOTH, (*_KEEPERS, "platform_curator")),
    Granted(Permission.DIRECTOR_ARCHIVE, "Archive directors", TENANT, _KEEPERS),
    Granted(Permission.DIRECTOR_VERIFY, "Check directors", _BOTH, ("platform_curator",)),
    Granted(Permission.DIRECTOR_ERASE, "Erase what is known of a former director", TENANT),
    Granted(
        Permission.DIRECTOR_REVEAL,
        "Use identity numbers of directors in documents",
        TENANT,
        ("bid_manager", "compliance_officer", "finance_manager"),
        sensitivity=Sensitivity.SENSITIVE,
    ),
    Granted(Permission.CONTACT_READ, "Read the contacts", TENANT, _READERS, while_suspended=True),
    Granted(Permission.CONTACT_CREATE, "Add contacts", TENANT, _KEEPERS),
    Granted(Permission.CONTACT_UPDATE, "Change contacts", TENANT, _KEEPERS),
    Granted(Permission.CONTACT_ARCHIVE, "Archive contacts", TENANT, _KEEPERS),
    Granted(Permission.CONTACT_ERASE, "Erase what is known of a contact", TENANT),
    Granted(Permission.ADDRESS_READ, "Read the addresses", TENANT, _READERS, while_suspended=True),
    Granted(Permission.ADDRESS_CREATE, "Add addresses", TENANT, _KEEPERS),
    Granted(Permission.ADDRESS_UPDATE, "Change addresses", TENANT, _KEEPERS),
    Granted(Permission.ADDRESS_ARCHIVE, "Archive addresses", TENANT, _KEEPERS),
    Granted(
        Permission.EQUIPMENT_READ, "Read the equipment", TENANT, _READERS, while_suspended=True
    ),
    Granted(Permission.EQUIPMENT_CREATE, "Add equipment", TENANT, _KEEPERS),
    Granted(Permission.EQUIPMENT_UPDATE, "Change and move equipment", TENANT, _KEEPERS),
    Granted(Permission.EQUIPMENT_ARCHIVE, "Archive equipment", TENANT, _KEEPERS),
    Granted(Permission.SERVICE_READ, "Read the services", TENANT, _READERS, while_suspended=True),
    Granted(Permission.SERVICE_CREATE, "Add services", TENANT, _KEEPERS),
    Granted(Permission.SERVICE_UPDATE, "Change and move services", TENANT, _KEEPERS),
    Granted(Permission.SERVICE_ARCHIVE, "Archive services", TENANT, _KEEPERS),
    Granted(Permission.PRODUCT_READ, "Read the products", TENANT, _READERS, while_suspended=True),
    Granted(Permission.PRODUCT_CREATE, "Add products", TENANT, _KEEPERS),
    Granted(Permission.PRODUCT_UPDATE, "Change and move products", TENANT, _KEEPERS),
    Granted(Permission.PRODUCT_ARCHIVE, "Archive products", TENANT, _KEEPERS),
    Granted(
        Permission.CAPABILITY_READ,
        "Read the capabilities",
        _BOTH,
        (*_READERS, *_CURATORS),
        while_suspended=True,
    ),
    Granted(Permission.CAPABILITY_CREATE, "Add capabilities", TENANT, _KEEPERS),
    Granted(
        Permission.CAPABILITY_UPDATE,
        "Change and move capabilities",
        _BOTH,
        (*_KEEPERS, *_CURATORS),
    ),
    Granted(Permission.CAPABILITY_ARCHIVE, "Archive capabilities", TENANT, _KEEPERS),
    Granted(Permission.CAPABILITY_VERIFY, "Check capabilities", _CHECKERS, _CURATORS),
    Granted(
        Permission.FLEET_ASSET_READ, "Read the vehicles", TENANT, _READERS, while_suspended=True
    ),
    Granted(Permission.FLEET_ASSET_CREATE, "Add vehicles", TENANT, _KEEPERS),
    Granted(Permission.FLEET_ASSET_UPDATE, "Change and move vehicles", TENANT, _KEEPERS),
    Granted(Permission.FLEET_ASSET_ARCHIVE, "Archive vehicles", TENANT, _KEEPERS),
    Granted(
        Permission.PAST_PROJECT_READ,
        "Read the past projects",
        _BOTH,
        (*_READERS, *_CURATORS),
        while_suspended=True,
    ),
    Granted(Permission.PAST_PROJECT_CREATE, "Add past projects", TENANT, _KEEPERS),
    Granted(Permission.PAST_PROJECT_UPDATE, "Change and move past projects", TENANT, _KEEPERS),
    Granted(Permission.PAST_PROJECT_ARCHIVE, "Archive past projects", TENANT, _KEEPERS),
    Granted(Permission.PAST_PROJECT_VERIFY, "Check past projects", _CHECKERS, _CURATORS),
    Granted(
        Permission.CLIENT_REFERENCE_READ,
        "Read the client references",
        TENANT,
        _READERS,
        while_suspended=True,
    ),
    Granted(Permission.CLIENT_REFERENCE_CREATE, "Add client references", TENANT, _KEEPERS),
    Granted(
        Permission.CLIENT_REFERENCE_UPDATE,
        "Change and withdraw client references",
        TENANT,
        _KEEPERS,
    ),
    Granted(Permission.CLIENT_REFERENCE_ARCHIVE, "Archive client references", TENANT, _KEEPERS),
    Granted(Permission.CLIENT_REFERENCE_ERASE, "Erase what is known of a client's contact", TENANT),
    Granted(
        Permission.PREFERENCES_READ,
        "Read what the company bids on",
        TENANT,
        _READERS,
        while_suspended=True,
    ),
    Granted(
        Permission.PREFERENCES_UPDATE, "Say what the company bids on", TENANT, ("bid_manager",)
    ),
    Granted(
        Permission.GRAPH_READ, "See what hangs on what", TENANT, _READERS, while_suspended=True
    ),
    Granted(
        Permission.HEALTH_READ,
        "See the health of the company",
        TENANT,
        _READERS,
        while_suspended=True,
    ),
)
