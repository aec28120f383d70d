{{- define "outrider.name" -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end }}

{{- define "outrider.labels" -}}
app.kubernetes.io/name: outrider
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "outrider.metadata" -}}
{{ include "outrider.labels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{/* The pod of a role: dict "top" . "role" "fetch" "port" 8061 "portName" "health" "values" .Values.fetch */}}
{{- define "outrider.pod" -}}
{{- $top := .top -}}
metadata:
  labels:
    {{- include "outrider.labels" $top | nindent 4 }}
    app.kubernetes.io/component: {{ .role }}
  annotations:
    # Settings are read at the start: other ones need other pods.
    checksum/settings: {{ toJson $top.Values.settings | sha256sum }}
    {{- with $top.Values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  automountServiceAccountToken: false
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ $top.Values.terminationGracePeriodSeconds }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 10001
    runAsGroup: 10001
    fsGroup: 10001
    seccompProfile: { type: RuntimeDefault }
  {{- with $top.Values.imagePullSecrets }}
  imagePullSecrets: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- with $top.Values.nodeSelector }}
  nodeSelector: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- with $top.Values.tolerations }}
  tolerations: {{ toYaml . | nindent 4 }}
  {{- end }}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "outrider.labels" $top | nindent 10 }}
          app.kubernetes.io/component: {{ .role }}
  containers:
    - name: {{ .role }}
      image: "{{ $top.Values.image.repository }}:{{ $top.Values.image.tag | default $top.Chart.AppVersion }}"
      imagePullPolicy: {{ $top.Values.image.pullPolicy }}
      args: [{{ .role }}]
      envFrom:
        - configMapRef: { name: {{ include "outrider.name" $top }}-settings }
      env:
        - name: DATABASE_URL_FILE
          value: /etc/outrider/secret/{{ $top.Values.secret.databaseUrlKey }}
        {{- range $name, $key := $top.Values.secret.settings }}
        - name: {{ $name }}_FILE
          value: /etc/outrider/secret/{{ $key }}
        {{- end }}
        {{- if eq .role "serve" }}
        - name: AUTH_JWT_SECRET_FILE
          value: /etc/outrider/secret/{{ $top.Values.secret.jwtSecretKey }}
        - name: OUTRIDER_API_PORT
          value: {{ .port | quote }}
        {{- with .values.hosts }}
        - name: OUTRIDER_API_HOSTS
          value: {{ join "," . | quote }}
        {{- end }}
        {{- else }}
        - name: OUTRIDER_HEALTH_PORT
          value: {{ .port | quote }}
        {{- end }}
      ports:
        - { name: {{ .portName }}, containerPort: {{ .port }} }
      # The first start makes or migrates the tables before it answers.
      startupProbe:
        httpGet: { path: /healthz, port: {{ .portName }} }
        periodSeconds: 5
        failureThreshold: 120
      # Alone whether it answers: a database that is away is no reason to start it again.
      livenessProbe:
        httpGet: { path: /healthz, port: {{ .portName }} }
        periodSeconds: 20
        timeoutSeconds: 10
        failureThreshold: 6
      readinessProbe:
        httpGet: { path: /readyz, port: {{ .portName }} }
        periodSeconds: 10
        timeoutSeconds: 5
      resources: {{- toYaml .values.resources | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: { drop: [ALL] }
      volumeMounts:
        - { name: secret, mountPath: /etc/outrider/secret, readOnly: true }
        - { name: data, mountPath: /data }
        - { name: tmp, mountPath: /tmp }
        {{- if $top.Values.databaseCaSecret }}
        - { name: database-ca, mountPath: /etc/outrider/ca, readOnly: true }
        {{- end }}
  volumes:
    - name: secret
      secret:
        secretName: {{ $top.Values.secret.name }}
        defaultMode: 0440
        items:
          - { key: {{ $top.Values.secret.databaseUrlKey }}, path: {{ $top.Values.secret.databaseUrlKey }} }
          {{- range $key := values $top.Values.secret.settings | uniq }}
          - { key: {{ $key }}, path: {{ $key }} }
          {{- end }}
          {{- if eq .role "serve" }}
          - { key: {{ $top.Values.secret.jwtSecretKey }}, path: {{ $top.Values.secret.jwtSecretKey }} }
          {{- end }}
    - { name: data, emptyDir: { sizeLimit: 1Gi } }
    - { name: tmp, emptyDir: { sizeLimit: 1Gi } }
    {{- if $top.Values.databaseCaSecret }}
    - name: database-ca
      secret: { secretName: {{ $top.Values.databaseCaSecret }}, defaultMode: 0444 }
    {{- end }}
{{- end }}
