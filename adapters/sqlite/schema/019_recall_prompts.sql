-- The client's own name of the prompt that a recall answered: turns can be told apart without being counted.
alter table recalls add column prompt_id text not null default '';
