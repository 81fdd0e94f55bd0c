"""Organization, whole."""

from pathlib import Path

from thenga.domains.compliance import public as compliance
from thenga.domains.identity import public as identity
from thenga.domains.organization import public
from thenga.domains.organization.api import (
    addresses,
    capabilities,
    classifications,
    client_references,
    contacts,
    directors,
    disclosures,
    equipment,
    facts,
    fleet_assets,
    intelligence,
    municipalities,
    offered_services,
    organizations,
    past_projects,
    procurement_preferences,
    products,
    suggestions,
    users,
)
from thenga.domains.organization.jobs import jobs
from thenga.domains.organization.lifecycles import LIFECYCLES
from thenga.domains.organization.permissions import GRANTED
from thenga.domains.organization.provider import (
    LocalClocks,
    LocalDisclosures,
    LocalPreferences,
    LocalProfiles,
    LocalSuggestions,
    LocalVerifications,
)
from thenga.domains.organization.reactions import reactions
from thenga.domains.organization.services import panel, reference_data
from thenga.domains.organization.settings import SETTINGS
from thenga.kernel.declare.manifest import Domain

DOMAIN = Domain(
    name="organization",
    home=Path(__file__).parent,
    routers=(
        organizations.router,
        facts.router,
        suggestions.router,
        users.router,
        directors.router,
        disclosures.router,
        contacts.router,
        addresses.router,
        offered_services.router,
        products.router,
        capabilities.router,
        equipment.router,
        fleet_assets.router,
        past_projects.router,
        client_references.router,
        municipalities.router,
        classifications.router,
        procurement_preferences.router,
        intelligence.router,
    ),
    permissions=GRANTED,
    events=public.EVENTS,
    lifecycles=LIFECYCLES,
    provides={
        public.Clocks: LocalClocks,
        public.Disclosures: LocalDisclosures,
        public.Preferences: LocalPreferences,
        public.Profiles: LocalProfiles,
        public.Suggestions: LocalSuggestions,
        public.Verifications: LocalVerifications,
    },
    needs=(identity.Decisions, identity.People),
    may_need=(compliance.Readiness,),
    reactions=reactions,
    jobs=jobs,
    at_deployment=reference_data.seed,
    panel=panel.summarize,
    settings=SETTINGS,
)
