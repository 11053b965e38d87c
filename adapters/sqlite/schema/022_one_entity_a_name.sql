-- A concept is merged into an entity of a specific kind if exactly one such entity has the same name.
create table twins as
select generic.key as gone, min(specific.key) as kept
  from entities as generic
  join entities as specific
    on specific.kind <> 'concept'
   and substr(specific.id, length('default:' || specific.kind || ':') + 1) = substr(generic.id, length('default:concept:') + 1)
 where generic.kind = 'concept' and generic.id glob 'default:concept:?*'
 group by generic.key
having count(*) = 1;

create table twin_mentions as select document_id, kept from mentions join twins on entity = gone;
delete from mentions where entity in (select gone from twins);
insert or ignore into mentions select document_id, kept from twin_mentions;

update or ignore triples set subject = (select kept from twins where gone = subject) where subject in (select gone from twins);
update or ignore triples set object = (select kept from twins where gone = object) where object in (select gone from twins);
-- Delete facts that the document already states about the other entity, and facts that would relate it to itself.
delete from triples where subject in (select gone from twins) or object in (select gone from twins);
delete from triples where subject = object and subject in (select kept from twins);
delete from entities where key in (select gone from twins);

drop table twin_mentions;
drop table twins;
