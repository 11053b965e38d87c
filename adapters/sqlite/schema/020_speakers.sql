-- Lines that somebody says, asked for two hundred at once with every question.
create index fragments_speaker on fragments (key, label) where kind = 'line' and label <> '';
