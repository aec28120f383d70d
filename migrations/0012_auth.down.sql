DROP TABLE ended_sessions;
DROP TABLE sign_in_codes;
DROP TABLE api_tokens;
DROP TABLE auth_secrets;
