"""The Gomocup protocol: `engine` runs other engines; `program` and `session` make PlainZero one."""
