// Package httpapi is the REST edge: it knows methods, paths, headers and statuses,
// and nothing else does. Handlers decode, call one method of the core, and encode.
package httpapi

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"hodl"
	"hodl/internal/auth"
	"hodl/internal/capture"
	"hodl/internal/ledger"
	"hodl/internal/meter"
	"hodl/internal/policy"
	"hodl/internal/resume"
	"hodl/internal/store"
)

// Version is the version of the API's document. A change of the document demands a
// change of it.
const Version = "1.1.0"

// Store is what the edge reads by itself.
type Store interface {
	Hodl(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, user hodl.UserID, id hodl.HodlID) (*hodl.Hodl, error)
	Hodls(ctx context.Context, f store.HodlFilter) ([]*hodl.Hodl, error)
	KnownHodls(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, user hodl.UserID, url string, most int) ([]*hodl.Hodl, error)
	Tags(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, user hodl.UserID, prefix, after string, limit int) ([]store.Tag, error)
	Session(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, user hodl.UserID, id hodl.SessionID) (*hodl.Session, error)
	Sessions(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, user hodl.UserID, p store.Page) ([]*hodl.Session, error)
	Version(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, id hodl.SessionID, fingerprint string) (*store.VersionBody, error)
	ListedVersion(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, id hodl.SessionID, fingerprint string) (hodl.Version, error)
	Versions(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, id hodl.SessionID, p store.Page) ([]hodl.Version, error)
	Token(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, user hodl.UserID, id hodl.TokenID) (*hodl.Token, error)
	Tokens(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, user hodl.UserID, session hodl.SessionID, p store.Page) ([]*hodl.Token, error)
	Records(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, f store.RecordFilter) ([]*hodl.Record, error)
	Record(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, user hodl.UserID, id hodl.RecordID) (*hodl.Record, error)
	Receipt(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, seq int64) (*ledger.Receipt, error)
	LogRows(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, user hodl.UserID, s ledger.Span) ([]store.LogRow, error)
	StrayLogRows(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, user hodl.UserID) ([]store.LogRow, error)
	LogHead(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode) (*store.LogHead, error)
	LogTiles(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, wanted []ledger.Tile) ([][]byte, error)
	AnchorKey(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode) ([]byte, error)
	Anchors(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, from int64, most int) ([]store.Anchor, error)
	ServerLogHead(ctx context.Context) (*store.LogHead, error)
	ServerLogTiles(ctx context.Context, wanted []ledger.Tile) ([][]byte, error)
	Used(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, month string) (int64, error)
	Keys(ctx context.Context, ws hodl.WorkspaceID, f store.KeyFilter) ([]*hodl.APIKey, error)
	Key(ctx context.Context, ws hodl.WorkspaceID, id hodl.KeyID) (*hodl.APIKey, error)
	AddKey(ctx context.Context, k hodl.APIKey, digest [32]byte) error
	ChangeKey(ctx context.Context, ws hodl.WorkspaceID, id hodl.KeyID, change func(*hodl.APIKey) (*store.NewKey, error)) error
	Members(ctx context.Context, ws hodl.WorkspaceID, p store.Page) ([]*hodl.Membership, error)
	Member(ctx context.Context, ws hodl.WorkspaceID, user hodl.UserID) (*hodl.Membership, error)
	Invite(ctx context.Context, m hodl.Membership, invitation *store.NewKey) error
	ChangeMember(ctx context.Context, ws hodl.WorkspaceID, user hodl.UserID, change func(*hodl.Membership) error) (*hodl.Membership, error)
	EraseUser(ctx context.Context, e store.Erasure) (*store.Erased, error)
	Memberships(ctx context.Context, user hodl.UserID) ([]*hodl.Membership, error)
	UsedByMember(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, since time.Time) ([]store.MemberUsage, error)
	Workspace(ctx context.Context, id hodl.WorkspaceID) (*hodl.Workspace, error)
	Found(ctx context.Context, w hodl.Workspace, admin hodl.UserID, first *store.NewKey) error
	ChangeWorkspace(ctx context.Context, id hodl.WorkspaceID, change func(*hodl.Workspace) error) (*hodl.Workspace, error)
	Once(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, credential string) (end func(), err error)
	Keep(ctx context.Context, answer []byte) error
	policy.Store
	Ping(ctx context.Context) error
	Backlog() (waiting, most int)
	Busy() bool
	Now() time.Time
	NewID(prefix string) string
}

// Options is what the edge serves.
type Options struct {
	Store    Store
	Keys     *auth.Keys
	Capture  *capture.Service
	Resume   *resume.Service
	JWKS     func() []byte
	Logs     Logs
	Ready    func(context.Context) error // nil when the server may take traffic
	Release  string                      // the version of the program
	Proxies  []netip.Prefix              // whose X-Forwarded-For is believed
	MCP      *Door                       // nil to have none
	Requests *meter.Rates                // what keys do; made when nil
	Log      *slog.Logger

	BodyTimeout time.Duration // how long a request's body may take to arrive; 30 s when 0
}

// A Door is another way in that is served beside this API: its handler, and those of
// the paths that tell of it.
type Door struct {
	http.Handler
	About map[string]http.Handler
}

type server struct {
	Options
	metrics  *metrics
	captures *meter.Rates // what capture-only keys do, in place of Requests, and
	mints    *meter.Rates
	policies *policy.Service
	fixed    map[string][]string // the methods of each path that has no parameter
}

// New returns the handler of the whole API.
func New(o Options) http.Handler { return Routes(o.BodyTimeout)(o) }

// Routes begins to build the routes: that takes as long as all else a server does
// before it serves, and needs nothing of it. What it returns waits for them.
func Routes(bodyTimeout time.Duration) func(Options) http.Handler {
	s, mux, built := &server{}, http.NewServeMux(), make(chan struct{})
	go func() {
		defer close(built)
		s.build(mux, cmp.Or(bodyTimeout, 30*time.Second))
	}()
	return func(o Options) http.Handler {
		<-built
		return s.serving(o, mux)
	}
}

func (s *server) build(mux *http.ServeMux, bodyTimeout time.Duration) *huma.OpenAPI {
	api := newHuma(mux)
	spec := api.OpenAPI()
	spec.Components.Schemas = &requestSchemas{Registry: spec.Components.Schemas}
	s.routes(router{api, bodyTimeout, s.once, s.keep})
	pathsOfFiles(spec)
	s.fixed = fixedPaths(spec)
	return spec
}

func (s *server) serving(o Options, mux *http.ServeMux) http.Handler {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Requests == nil {
		o.Requests = meter.NewRates(meter.Requests)
	}
	s.Options, s.policies, s.metrics = o, policy.New(o.Store), newMetrics(o.Store)
	s.captures, s.mints = meter.NewRates(meter.Captures), meter.NewRates(meter.Mints)
	s.plainRoutes(mux)
	return s.around(mux)
}

func newHuma(mux *http.ServeMux) huma.API {
	// huma keeps these in package variables; they are set to the same values however
	// often a server is made.
	setHumaDefaults()
	config := huma.DefaultConfig("hodl", Version)
	config.Formats = map[string]huma.Format{"application/json": jsonFormat, "json": jsonFormat}
	config.OpenAPIPath, config.DocsPath, config.SchemasPath = "", "", ""
	config.CreateHooks = nil // no $schema in bodies
	config.Info.Description = "Carries a person's working session to an AI agent, and back. Every path is served under /v1 and, the same, under /api/v1."
	config.Info.License = &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"}
	config.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		byKey:   {Type: "http", Scheme: "bearer", Description: "An API key: hodl_live_… or hodl_test_…"},
		byProof: {Type: "http", Scheme: "dpop", Description: "A resume token bound to a key, with a proof of possession in the header DPoP (RFC 9449)"},
		byToken: {Type: "http", Scheme: "bearer", BearerFormat: "JWT", Description: "A resume token, minted by POST /v1/resume_tokens"},
	}
	return humago.New(mux, config)
}

// routes is every route of the API, on one screen.
func (s *server) routes(api router) {
	api.UseMiddleware(s.authenticate(api))

	register(api, op{"captureHodl", "POST", "/v1/hodls", "hodls:write", "Capture a hodl", created, []int{409, 413, 422}}, s.hodlCapture)
	register(api, op{"captureHodls", "POST", "/v1/hodls/batch", "hodls:write", "Capture up to 1,000 hodls, each for itself", ok, []int{413, 422}}, s.hodlBatch)
	register(api, op{"listHodls", "GET", "/v1/hodls", "hodls:read", "Search hodls, newest first", ok, []int{422}}, s.hodlList)
	register(api, op{"checkHodl", "GET", "/v1/hodls/check", "hodls:read", "Is a page known already?", ok, []int{422}}, s.hodlCheck)
	register(api, op{"exportHodls", "GET", "/v1/hodls/export", "hodls:read", "Export every hodl", ok, nil}, s.hodlExport)
	register(api, op{"importHodls", "POST", "/v1/hodls/import", "hodls:write", "Import an export, or bookmarks", ok, []int{413, 422}}, s.hodlImport)
	register(api, op{"listTags", "GET", "/v1/tags", "hodls:read", "List tags with their counts", ok, []int{422}}, s.tagList)
	register(api, op{"latestHodl", "GET", "/v1/hodls/latest", "hodls:read", "The last hodl", ok, []int{404}}, s.hodlLatest)
	register(api, op{"getHodl", "GET", "/v1/hodls/{id}", "hodls:read", "Get a hodl", ok, []int{404}}, s.hodlGet)
	register(api, op{"changeHodl", "PATCH", "/v1/hodls/{id}", "hodls:write", "Change fields of a hodl", ok, []int{404, 409, 412, 413, 422}}, s.hodlChange)
	register(api, op{"deleteHodl", "DELETE", "/v1/hodls/{id}", "hodls:write", "Delete a hodl", ok, []int{404, 409, 412}}, s.hodlDelete)
	register(api, op{"restoreHodl", "POST", "/v1/hodls/{id}/restore", "hodls:write", "Take the deletion of a hodl back", ok, []int{404, 409, 412}}, s.hodlRestore)
	register(api, op{"resumeHodl", "POST", "/v1/hodls/{id}/resume", "hodls:read", "Get the link that opens a hodl at its place", ok, []int{404, 413, 422}}, s.hodlResume)

	register(api, op{"capture", "POST", "/v1/hodl", "hodls:write", "Capture whatever a published client sends: a session, or a hodl", ok, []int{409, 412, 413, 422}}, s.captureAny)
	register(api, op{"captureSession", "POST", "/v1/sessions", "sessions:write", "Capture a session", created, []int{409, 412, 413, 422}}, s.sessionCapture)
	register(api, op{"putSession", "PUT", "/v1/sessions/{id}", "sessions:write", "Create or replace a session", ok, []int{409, 412, 413, 422}}, s.sessionPut)
	register(api, op{"listSessions", "GET", "/v1/sessions", "sessions:read", "List sessions, last captured first", ok, []int{422}}, s.sessionList)
	register(api, op{"getSession", "GET", "/v1/sessions/{id}", "sessions:read", "Get a session's metadata", ok, []int{404}}, s.sessionGet)
	register(api, op{"getSessionContent", "GET", "/v1/sessions/{id}/content", "sessions:read", "Get a session's content, unredacted", ok, []int{404}}, s.sessionContent)
	register(api, op{"listVersions", "GET", "/v1/sessions/{id}/versions", "sessions:read", "List a session's versions", ok, []int{404, 422}}, s.sessionVersions)
	register(api, op{"getVersion", "GET", "/v1/sessions/{id}/versions/{fingerprint}", "sessions:read", "Get a version's content, unredacted", ok, []int{404}}, s.sessionVersion)
	register(api, op{"diffSession", "GET", "/v1/sessions/{id}/diff", "sessions:read", "Tell how one version became another", ok, []int{404, 422}}, s.sessionDiff)
	register(api, op{"forkSession", "POST", "/v1/sessions/{id}/fork", "sessions:write", "Start a new session from a version of this one", created, []int{404, 413, 422}}, s.sessionFork)
	register(api, op{"holdSession", "POST", "/v1/sessions/{id}/hold", "sessions:write", "Hold an open session", ok, []int{404, 409}}, s.sessionMove(hodl.OpHold))
	register(api, op{"resumeSession", "POST", "/v1/sessions/{id}/resume", "sessions:write", "Take a session up again as a person", ok, []int{404, 409}}, s.sessionMove(hodl.OpResume))
	register(api, op{"archiveSession", "POST", "/v1/sessions/{id}/archive", "sessions:write", "Put a session away; its tokens end for good", ok, []int{404, 409}}, s.sessionMove(hodl.OpArchive))
	register(api, op{"restoreSession", "POST", "/v1/sessions/{id}/restore", "sessions:write", "Bring an archived session back", ok, []int{404, 409}}, s.sessionMove(hodl.OpRestore))
	register(api, op{"handOffSession", "POST", "/v1/sessions/{id}/handoff", "tokens:write", "Give a session to another principal; the person has confirmed it", created, []int{404, 409, 413, 422}}, s.sessionHandOff)
	register(api, op{"deleteSession", "DELETE", "/v1/sessions/{id}", "sessions:write", "Erase a session's content and end its tokens", ok, []int{404}}, s.sessionDelete)

	register(api, op{"hydrate", "POST", "/v1/sessions/{id}/hydrate", byToken, "Hand a session to an agent", ok, []int{404, 406, 409, 410, 422, 429}}, s.hydrate)
	register(api, op{"appendNote", "POST", "/v1/sessions/{id}/notes", byToken, "Append a note as an agent", ok, []int{404, 409, 412, 413, 422, 429}}, s.noteAppend)
	register(api, op{"appendNode", "POST", "/v1/sessions/{id}/reasoning_nodes", byToken, "Append a typed node as an agent", ok, []int{404, 409, 412, 413, 422, 429}}, s.nodeAppend)
	register(api, op{"proposeNextStep", "PUT", "/v1/sessions/{id}/next_step", byToken, "Propose the next step as an agent", ok, []int{404, 409, 412, 413, 422, 429}}, s.nextStep)

	register(api, op{"mintToken", "POST", "/v1/resume_tokens", "tokens:write", "Mint a resume token", created, []int{404, 409, 413, 422}}, s.tokenMint)
	register(api, op{"exchangeToken", "POST", "/v1/resume_tokens/exchange", byToken, "Exchange a resume token for a narrower one (RFC 8693)", ok, []int{404, 409, 413, 422, 429}}, s.tokenExchange)
	register(api, op{"introspectToken", "POST", "/v1/resume_tokens/introspect", orProof + "tokens:read", "Ask whether a resume token can be used now, and what it says (RFC 7662)", ok, []int{413, 422}}, s.tokenIntrospect)
	register(api, op{"revokeTokens", "POST", "/v1/resume_tokens/revoke", "tokens:write", "Revoke all resume tokens of a session, key, user or workspace", ok, []int{404, 413, 422}}, s.tokensRevoke)
	register(api, op{"revokeToken", "POST", "/v1/resume_tokens/{jti}/revoke", "tokens:write", "Revoke a resume token", ok, []int{404, 413, 422}}, s.tokenRevoke)
	register(api, op{"listTokens", "GET", "/v1/resume_tokens", "tokens:read", "List resume tokens, newest first", ok, []int{422}}, s.tokenList)
	register(api, op{"getToken", "GET", "/v1/resume_tokens/{jti}", "tokens:read", "Get what is kept of a resume token", ok, []int{404}}, s.tokenGet)

	register(api, op{"addAudience", "POST", "/v1/audiences", "audiences:write", "Register an audience", created, []int{409, 413, 422}}, s.audienceAdd)
	register(api, op{"listAudiences", "GET", "/v1/audiences", "audiences:read", "List audiences: registered ones, then the built-in ones", ok, []int{422}}, s.audienceList)
	register(api, op{"getAudience", "GET", "/v1/audiences/{id}", "audiences:read", "Get an audience", ok, []int{404}}, s.audienceGet)
	register(api, op{"changeAudience", "PATCH", "/v1/audiences/{id}", "audiences:write", "Change what an audience is bound to", ok, []int{404, 413, 422}}, s.audienceChange)
	register(api, op{"deleteAudience", "DELETE", "/v1/audiences/{id}", "audiences:write", "Take an audience out of the registry", ok, []int{404}}, s.audienceDelete)

	register(api, op{"listAccessRecords", "GET", "/v1/access_records", "records:read", "List access records, newest first", ok, []int{422}}, s.recordList)
	register(api, op{"exportAccessRecords", "GET", "/v1/access_records/export", "records:read", "Export the access log with its checkpoint", ok, []int{422}}, s.recordExport)
	register(api, op{"getAccessRecord", "GET", "/v1/access_records/{id}", "records:read", "Get an access record", ok, []int{404}}, s.recordGet)
	register(api, op{"proveAccessRecord", "GET", "/v1/access_records/{id}/proof", "records:read", "Prove that an access record is in the log (c2sp.org/tlog-proof)", ok, []int{404}}, s.recordProof)
	for _, l := range []struct {
		mode       hodl.Mode
		path, what string
	}{{hodl.Live, "", "Log"}, {hodl.Sandbox, "/sandbox", "SandboxLog"}} {
		at := "/v1/workspaces/{id}/log" + l.path
		register(api, op{"get" + l.what + "Checkpoint", "GET", at + "/checkpoint", "log:read", "Get the signed head of the access log (c2sp.org/tlog-checkpoint)", ok, []int{404}}, s.logCheckpoint(l.mode))
		register(api, op{"get" + l.what + "Tile", "GET", at + "/tile/{tile...}", "log:read", "Get hashes or entries of the access log (c2sp.org/tlog-tiles)", ok, []int{404}}, s.logTile(l.mode))
		register(api, op{"get" + l.what + "Keys", "GET", at + "/keys", "log:read", "Get the keys the access log is verified with", ok, []int{404}}, s.logKeys(l.mode))
		register(api, op{"list" + l.what + "Anchors", "GET", at + "/anchors", "log:read", "List the entries of the access log in the server's log", ok, []int{404, 422}}, s.logAnchors(l.mode))
	}

	register(api, op{"createKey", "POST", "/v1/api_keys", "keys:write", "Make an API key; it is shown this once", created, []int{413, 422}}, s.keyCreate)
	register(api, op{"listKeys", "GET", "/v1/api_keys", "keys:read", "List API keys, newest first", ok, []int{422}}, s.keyList)
	register(api, op{"getKey", "GET", "/v1/api_keys/{id}", "keys:read", "Get what is kept of an API key", ok, []int{404}}, s.keyGet)
	register(api, op{"changeKey", "PATCH", "/v1/api_keys/{id}", "keys:write", "Rename an API key, or bound it anew", ok, []int{404, 413, 422}}, s.keyChange)
	register(api, op{"rotateKey", "POST", "/v1/api_keys/{id}/rotate", "keys:write", "Replace an API key, which ends after an overlap", created, []int{404, 409, 413, 422}}, s.keyRotate)
	register(api, op{"revokeKey", "POST", "/v1/api_keys/{id}/revoke", "keys:write", "Revoke an API key", ok, []int{404}}, s.keyRevoke)

	register(api, op{"listPolicies", "GET", "/v1/redaction_policies", "policies:read", "List redaction policies, and which is the current one", ok, []int{422}}, s.policyList)
	register(api, op{"getPolicy", "GET", "/v1/redaction_policies/{name}", "policies:read", "Get a redaction policy", ok, []int{404, 422}}, s.policyGet)
	register(api, op{"putPolicy", "PUT", "/v1/redaction_policies/{name}", "policies:write", "Make a redaction policy, or its next version, as an admin", ok, []int{409, 412, 413, 422}}, s.policyPut)
	register(api, op{"deletePolicy", "DELETE", "/v1/redaction_policies/{name}", "policies:write", "Erase a redaction policy and its history, as an admin; its tokens are good for nothing", ok, []int{404, 409, 412, 422}}, s.policyDelete)
	register(api, op{"listPolicyVersions", "GET", "/v1/redaction_policies/{name}/versions", "policies:read", "List the versions of a redaction policy", ok, []int{404, 422}}, s.policyVersions)
	register(api, op{"rollbackPolicy", "POST", "/v1/redaction_policies/{name}/rollback", "policies:write", "Make a version that says what an older one said, as an admin", ok, []int{404, 409, 412, 413, 422}}, s.policyRollback)
	register(api, op{"usePolicy", "POST", "/v1/redaction_policies/{name}/use", "policies:write", "Make a redaction policy the current one, as an admin", ok, []int{404, 409}}, s.policyUse)
	register(api, op{"previewPolicy", "POST", "/v1/redaction_policies/{name}/preview", "policies:read", "See what an agent would receive of a session, before there is a token", ok, []int{404, 406, 413, 422}}, s.policyPreview)

	register(api, op{"listMembers", "GET", "/v1/members", "members:read", "List members, newest first", ok, []int{422}}, s.memberList)
	register(api, op{"addMember", "POST", "/v1/members", "members:write", "Invite a new member, as an admin", created, []int{413, 422}}, s.memberAdd)
	register(api, op{"joinWorkspace", "POST", "/v1/members/join", hodl.Joining, "Trade an invitation for a first key", created, nil}, s.memberJoin)
	register(api, op{"getMember", "GET", "/v1/members/{id}", "members:read", "Get a member", ok, []int{404}}, s.memberGet)
	register(api, op{"changeMember", "PATCH", "/v1/members/{id}", "members:write", "Rename a member or change their role, as an admin", ok, []int{404, 409, 413, 422}}, s.memberChange)
	register(api, op{"removeMember", "DELETE", "/v1/members/{id}", "members:write", "Remove a member, as an admin; their keys and tokens end", ok, []int{404, 409}}, s.memberRemove)
	register(api, op{"eraseMember", "POST", "/v1/members/{id}/erase", "members:write", "Erase a person who was removed, as an admin; a dry run unless you say otherwise", ok, []int{404, 409, 413, 422}}, s.memberErase)

	register(api, op{"listWorkspaces", "GET", "/v1/workspaces", "workspaces:read", "List the workspaces you are a member of, newest first", ok, []int{422}}, s.workspaceList)
	register(api, op{"createWorkspace", "POST", "/v1/workspaces", "workspaces:write", "Make a workspace of your own, as an admin; its key is shown this once", created, []int{413, 422}}, s.workspaceCreate)
	register(api, op{"getWorkspace", "GET", "/v1/workspaces/{id}", "workspaces:read", "Get the key's workspace", ok, []int{404}}, s.workspaceGet)
	register(api, op{"changeWorkspace", "PATCH", "/v1/workspaces/{id}", "workspaces:write", "Rename the key's workspace, or say how far its tokens go, as an admin", ok, []int{404, 413, 422}}, s.workspaceChange)

	register(api, op{"me", "GET", "/v1/me", "", "Who the key belongs to", ok, nil}, s.me)
	register(api, op{"usage", "GET", "/v1/usage", "usage:read", "Hydrations of this month, the quota and the rates", ok, []int{422}}, s.usage)
}
