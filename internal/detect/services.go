package detect

// serviceNames are names of services that hand out credentials without a form of
// their own: a random value right after one is suspect.
const serviceNames = `abuseipdb abyssale accuweather adafruit adobe aeroworkflow aftership agora airbrake airship airtable airvisual aiven
	akamai alchemy alegra algolia alibaba aliyun amplitude anthropic appcues appdynamics appfollow applitools appsflyer artifactory
	asana assemblyai atlassian auth0 autodesk autoklose automox avalara aylien azure baremetrics beamer bitbucket bitcoinaverage
	bitfinex bitly bitmex bittrex blazemeter blynk bombbomb boostnote borgbase braintree branchio browserstack browshot bugherd
	bugsnag buildkite bulksms buttercms caflou calendarific calendly campayn cannyio capsulecrm cashboard censys chargebee chatbot
	checkmarx checkout cicero circleci clarifai clearbit clickhouse clicksend clickup cliengo clockify cloudconvert cloudelements
	cloudflare cloudimage cloudinary cloudmersive cloudplan cloudsmith cloverly cloze codacy codeclimate codecov codemagic cohere
	coinapi coinbase coinlayer commercejs commodities companyhub confluent contentful convertkit copper coralogix coveralls
	crowdin cryptocompare currencylayer currents curseforge customer.io d7network dandelion databricks datadog datagov debounce
	deepai deepgram deepseek delighted demio deputy detectify dfuse diffbot digitalocean discogs discord disqus ditto dnscheck docker
	docparser documo docusign doppler dotdigital dovico drone dropbox duffel dwolla dynalist dynatrace eagleeye easyinsight ecostruxure
	edamam edenai elastic elevenlabs enablex endorlabs enigma envoy equinix etherscan etsy eventbrite everhour exchangerate
	facebook facepp fastforex fastly figma fileio finage financialmodelingprep findl finicity finnhub fireworks flatio fleetbase flexport
	flickr flowflu flutterwave foursquare frameio freshbooks freshdesk freshservice fullstory fusebill fxmarket geckoboard
	gemini gengo geoapify geocode geocodio getemail getgeoapi getresponse ghost gitee github gitlab gitter glassnode gocanvas
	gocardless goodday google grafana graphcms graphhopper groovehq groq gtmetrix guardian gumroad gyazo hasura helpcrunch
	helpscout hereapi heroku hiveage holidayapi honeybadger honeycomb host.io hotjar hubspot huggingface humanity hunter hypertrack
	iconfinder iexcloud imagekit imgur impala infobip infura insightly instacart instagram instamojo intercom interseller intrinio
	ipapi ipdata ipgeolocation ipify ipinfo ipquality ipstack jenkins jira jumpcloud juro kanban karma keen kickbox klaviyo
	klipfolio knapsack kontent kraken kucoin kylas langsmith lastfm launchdarkly leadfeeder lemlist lemonsqueezy lessannoying
	linear linkedin linode linenotify livestorm loadmill lob locationiq logdna loggly loginradius logz lokalise loyverse lunchmoney
	magento mailboxlayer mailchimp mailerlite mailgun mailjet mailmodo mailsac mandrill mapbox mapquest marketstack mattermost maxmind
	mediastack meistertask meraki mesibo messagebird metaapi metrilo mindmeister miro mistral mite mixmax mixpanel moderation
	monday mongodb moonclerk moralis mrticktock mux myfreshworks nasdaq neptune netlify neutrino newrelic newsapi newscatcher nexmo
	nftport ngrok nicereply nightfall nimble nitro noticeable notion nozbe numverify nutritionix nylas nytimes octopus okta
	omnisend onedesk onelogin onepage onfido onwater oopspam openai opencage openrouter openuv openvpn openweather optimizely
	orbit overloop owlbot pagarme pagerduty pandadoc pandascore paperform parsehub parseur partnerstack passbase paymo
	paymongo paypal paystack pepipost percy perplexity pinecone pinata pipedream pipedrive pivotal pixabay plaid planetscale
	planview planyo plivo poloniex polygon positionstack postageapi postbacks postman postmark powrbot prefect privacy prospectcrm
	protocols proxycrawl pubnub pulumi purestake pushbullet pusher pushover qase qualaroo qubole quickmetrics rapidapi raven rawg
	razorpay rebrandly recaptcha redis refiner rentman repairshopr replicate replyio requestfinance restpack rev revampcrm ringcentral
	ritekit roaring rocketreach roninapp route4me rownd rubygems rudderstack runrunit salesblink salesforce salesmate satismeter
	saucelabs scaleway scalingo scrapeowl scraperapi scraperbox scrapestack scrapfly screenshot scrutinizer securitytrails segment
	selectpdf semaphore sendbird sendgrid sendinblue sentiment sentry serpapi serpstack servicenow sheety sherpadesk shipday shippo
	shodan shopify shortcut shotstack shutterstock signable signalwire signaturit signupgenius sigopt simplesat sinch sirv siteleaf
	skrapp skybiometry slack smartsheet smooch snapchat snipcart snowflake snyk sonar sonarcloud sonarqube sourcegraph sparkpost
	speechtext splunk spoonacular sportradar spotify spotinst square squarespace sslmate statuscake statuspage storecove
	stormboard stormglass storyblok storychief strava stripe stytch sumologic supabase supernotes surge surveybot surveysparrow
	survicate swell swiftype tailscale tallyfy tatum taxjar teamgate teamwork technical tefter telegram teletype telnyx terraform
	textmagic theodds thinkific thousandeyes ticketmaster tiingo timekit timezone tmetric toggl together tomorrow tomtom tradier
	transferwise transifex travis travisci trello truenas twelvedata twilio twist twitch twitter typeform typetalk ubidots uclassify
	unify unplugg unsplash upcdatabase uplead uploadcare uptimerobot upwave upstash urlscan userflow userstack vagrant vbout vercel
	verifier verimail veriphone versioneye viewneo virustotal visualcrossing voicegain vouchery vultr vyte walkscore wandb weatherbit
	weatherstack webex webflow webscraper wepay whoxy wistia wix woocommerce workable workstack worldcoin worldweather wrike wufoo
	xai yandex yelp youneedabudget zapier zendesk zenkit zenrows zenscrape zenserp zeplin zerobounce zerotier zipapi zipbooks
	zipcode zoho zonka zoom zulip aws_secret aws_access wakatime jfrog cloudant softlayer watson meilisearch typesense codeship
	appveyor beanstalk sidekiq readme lichess vonage onesignal rollbar bugsplat logtail betterstack posthog heap instana lacework wiz
	tenable qualys rapid7 crowdstrike sentinelone veracode snyk sonatype nexus quay harbor rancher openshift vault consul nomad boundary
	keycloak fusionauth workos clerk frontegg descope kinde adyen mollie paddle chargify recurly xero quickbooks freshworks gusto rippling
	bamboohr greenhouse lever smartrecruiters wordpress ghostadmin sanity prismic datocms strapi directus netsuite sap oracle vmware
	okcoin huobi binance bybit bitstamp bitget gateio deribit ftx kaiko messari nansen opensea rarible thirdweb quicknode ankr
	weatherapi openweathermap meteomatics breezometer aeris iqair aqicn amadeus skyscanner`
