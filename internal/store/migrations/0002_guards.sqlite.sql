-- Access records are append-only, whoever asks.
create trigger access_records_no_update before update on access_records
begin select raise(abort, 'access records are immutable'); end;
create trigger access_records_no_delete before delete on access_records
begin select raise(abort, 'access records are immutable'); end;
create trigger access_details_no_update before update on access_details
begin select raise(abort, 'access records are immutable'); end;
create trigger access_details_no_delete before delete on access_details
begin select raise(abort, 'access records are immutable'); end;
