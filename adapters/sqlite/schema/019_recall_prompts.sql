-- The client's id of the prompt that a recall answered, which identifies turns without counting them.
alter table recalls add column prompt_id text not null default '';
