-- A member is of one workspace, and so is a session: without being told, PostgreSQL
-- multiplies the chances, expects a hundredth of what somebody has, and would rather
-- read and sort all of it than walk an index from its end for a page.
create statistics hodls_by_owner (dependencies) on workspace, member, session from hodls;
create statistics hodl_words_by_owner (dependencies) on workspace, member from hodl_words;
create statistics access_records_by_owner (dependencies) on workspace, member, session from access_records;
create statistics sessions_by_owner (dependencies) on workspace, member from sessions;
create statistics session_versions_by_owner (dependencies) on workspace, session from session_versions;
create statistics tokens_by_owner (dependencies) on workspace, member, session from tokens;
