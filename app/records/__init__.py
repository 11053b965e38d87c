"""Plain JSON records of documents, facts and reports, with the same field names in every interface."""
