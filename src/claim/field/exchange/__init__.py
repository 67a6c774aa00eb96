"""Exchange with other programs: what can be brought into a study, and what can be taken out.

In: :func:`preview` reads files and says what is in them; :func:`take` gives the records, all or nothing;
:func:`~claim.field.exchange.study.import_preview` writes them into a study as one batch.
Out: :func:`~claim.field.exchange.study.bundle_of` gives a study's records, :func:`export` turns them into files that
carry codes, :func:`~claim.field.exchange.export.write_name_key` puts the names into an encrypted file of their own.
"""

from claim.field.exchange.export import EXPORTS, export, export_zip
from claim.field.exchange.preview import IMPORTERS, Preview, preview, take

__all__ = ["EXPORTS", "IMPORTERS", "Preview", "export", "export_zip", "preview", "take"]
