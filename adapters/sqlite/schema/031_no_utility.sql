-- Nothing reads these counts: telemetry has each surfaced document, with its use.
drop table utility;
