"""GTP 2: `engine` runs other engines; `program` and `session` make PlainZero one."""
