"""Percolation: which watchlists a tender fits, all of them in one statement (OPP-35).

The words of the notice are joined with nothing first: the copy is plain, so the database does not
unpack the stored ones again for every watchlist.
"""

from uuid import UUID

from thenga.domains.opportunity.tables import TenderOpportunity
from thenga.kernel.db.work import Work

_FITS = """
    WITH notice AS MATERIALIZED (
        SELECT *, words || ''::tsvector AS plain_words, buyer_words || ''::tsvector AS plain_buyer
        FROM opportunity.{search} WHERE id = $1
    )
    INSERT INTO opportunity.watchlist_hit (
        id, organization_id, created_at, updated_at, version, watchlist_id, tender_opportunity_id,
        material_revision, at
    )
    SELECT gen_random_uuid(), watched.organization_id, $2, $2, 1, watched.id, notice.id, $3, $2
    FROM notice, opportunity.watchlist AS watched
    WHERE watched.status = 'active' AND $4 = ANY (watched.alert_on)
        AND ($5::uuid IS NULL OR watched.organization_id = $5)
        AND (watched.main_category IS NULL OR watched.main_category = notice.main_category)
        AND (watched.province IS NULL OR watched.province = ANY (notice.provinces))
        AND (watched.query IS NULL OR notice.plain_words @@ watched.query)
        AND (watched.classification IS NULL
            OR watched.classification = ANY (notice.classification_prefixes))
        AND (watched.buyer_query IS NULL OR notice.plain_buyer @@ watched.buyer_query)
        AND (watched.municipality IS NULL OR watched.municipality = notice.municipality_code)
        AND (watched.category IS NULL OR watched.category = notice.category_text)
        AND (watched.buyer_id IS NULL OR watched.buyer_id = notice.source_buyer_id)
        AND (watched.sphere IS NULL OR watched.sphere = notice.sphere)
        AND (watched.method IS NULL OR watched.method = notice.method)
        AND (watched.cidb_class IS NULL OR watched.cidb_class = ANY (notice.cidb_classes))
        AND (watched.cidb_grade_max IS NULL OR watched.cidb_grade_max >= notice.cidb_grade)
        AND (watched.value_min_minor IS NULL OR watched.value_min_minor <= notice.value_minor)
        AND (watched.value_max_minor IS NULL OR watched.value_max_minor >= notice.value_minor)
        AND (watched.closing_from IS NULL OR watched.closing_from <= notice.closing_sort)
        AND (watched.closing_to IS NULL OR watched.closing_to > notice.closing_sort)
        AND (watched.published_from IS NULL OR watched.published_from <= notice.published_sort)
        AND (watched.briefing IS NULL OR watched.briefing = notice.briefing
            OR watched.briefing = 'any' AND notice.briefing = 'compulsory')
        AND (watched.number_key IS NULL OR position(watched.number_key IN notice.number_key) > 0)
        AND (watched.ocid IS NULL OR watched.ocid = notice.ocid)
        AND (watched.source_id IS NULL OR watched.source_id = notice.source_id)
        AND (watched.has_documents IS NULL OR watched.has_documents = notice.has_documents)
    ON CONFLICT DO NOTHING
"""
_SHARED = _FITS.format(search="notice_search")
_OWN = _FITS.format(search="capture_search")


async def percolate(work: Work, tender: TenderOpportunity, *, only: UUID | None = None) -> int:
    """Record which active watchlists fit, once a material revision; how many do.

    A shared tender is compared with those of every company, by the system login; a capture with
    those of its keeper.
    """
    occasion = "amended" if tender.material_revision > 1 else "published"
    text = _SHARED if tender.shared else _OWN
    await work.run("SET LOCAL jit = off")  # compiling takes longer than comparing
    done = await work.run(text, tender.id, work.now, tender.material_revision, occasion, only)
    return _inserted(done)


def _inserted(tag: str) -> int:
    """The count of an answer like `INSERT 0 12`."""
    return int(tag.rsplit(" ", 1)[-1])
