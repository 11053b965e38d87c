-- Lines with a speaker; each query reads the labels of about two hundred lines.
create index fragments_speaker on fragments (key, label) where kind = 'line' and label <> '';
