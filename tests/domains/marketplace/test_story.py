"""A listing from the category to the moment that another company reads it."""

from tests.domains.marketplace.stalls import PATH, Moderator, Stall
from tests.factories import marketplace as factory
from tests.factories import supplier as suppliers
from thenga.kernel.process.host import Host

CATEGORIES = "/marketplace/categories"
PIPES = {
    "code": "pipes-and-culverts",
    "names": {"en": "Pipes and culverts", "af": "Pype en duikers"},
    "unspscPrefixes": ["401715", "721410"],
    "cidbClasses": ["CE"],
}


async def test_a_listing_from_its_category_to_its_reader(
    mine: Stall, theirs: Stall, moderator: Moderator, host: Host
) -> None:
    api, staff = mine.api, moderator.who.headers
    above = await api.post(
        CATEGORIES,
        json={"code": "civil-works", "names": {"en": "Civil works"}, "cidbClasses": ["CE"]},
        headers=staff,
    )
    category = (
        await api.post(CATEGORIES, json=PIPES | {"parentId": above.json()["id"]}, headers=staff)
    ).json()
    at = f"{CATEGORIES}/{category['id']}"
    names = {"en": "Pipes and culverts", "zu": "Amapayipi nemigelekeqe"}
    renamed = await api.patch(at, json={"names": names}, headers=staff)
    assert (await api.get(at, headers=theirs.who.acting)).json() == renamed.json()
    listed = await api.get(
        CATEGORIES, params={"parentId": above.json()["id"]}, headers=theirs.who.acting
    )
    assert [row["code"] for row in listed.json()["items"]] == ["pipes-and-culverts"]

    supplier_id = await factory.provider(host, mine.who.organization_id)
    capability = await api.post(
        f"/suppliers/{supplier_id}/capabilities",
        json=suppliers.PIPES | {"categoryIds": [category["id"]]},
        headers=mine.who.acting,
    )
    content = factory.CONTENT | {
        "categoryIds": [category["id"]],
        "capabilityRefs": [capability.json()["id"]],
    }
    made = (await mine.post(kind="service", content=content, submit=True)).json()
    live = await moderator.decided(made, "publish")
    assert (await theirs.read(made["id"]))["live"] == live["live"]
    shown = await theirs.get(f"/{made['id']}/verification-display")
    (badge,) = shown.json()["verification"]["badges"]
    assert badge["source"]["id"] == capability.json()["id"]

    changed = await mine.moved(made["id"], content=content | {"leadTimeDays": 7})
    assert changed["change"]["content"]["leadTimeDays"] == 7
    hidden = await api.patch(
        f"{PATH}/{made['id']}/visibility",
        json={"visibility": "unlisted"},
        headers=mine.who.acting,
    )
    assert hidden.json()["served"]
    assert [row["id"] for row in (await mine.get()).json()["items"]] == [made["id"]]
