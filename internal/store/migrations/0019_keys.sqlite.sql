-- What the index of words holds of a hodl beside its words (tags, source, kind) is
-- from now on under its owner's name. The chores index all hodls anew.
update hodls set known = x'';
delete from hodl_tags;
