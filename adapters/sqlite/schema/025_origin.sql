-- The origin of a document. Tags that recorded it so far become a column; of several tags the least trusted one counts.
alter table documents add column origin text not null default 'user';
update documents set origin = 'assistant' where collection = '_clawmem';
update documents set origin = coalesce(
    (select substr(value, 8) from json_each(documents.tags)
      where value in ('origin:user', 'origin:assistant', 'origin:tool_inside', 'origin:shared', 'origin:imported', 'origin:tool_outside')
      order by case substr(value, 8)
        when 'tool_outside' then 0 when 'imported' then 1 when 'shared' then 2 when 'tool_inside' then 3 when 'assistant' then 4 else 5 end
      limit 1),
    origin);
