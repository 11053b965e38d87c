-- Cached answers of models, by a fingerprint of query, model and purpose.
create table model_answers (
    key     blob primary key,                       -- SHA-256 over model, purpose and question, 32 bytes
    purpose text not null,                          -- expansion, rerank, ...
    answer  text not null,
    kept_at text not null
) without rowid;
create index model_answers_kept on model_answers (kept_at);
