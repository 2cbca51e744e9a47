{{- define "cvrsync.labels" -}}
app.kubernetes.io/name: cvrsync
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "cvrsync.selector" -}}
app.kubernetes.io/name: cvrsync
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- /* The pod, the same on both engines but for the volume of SQLite. */ -}}
{{- define "cvrsync.pod" -}}
metadata:
  labels:
    {{- include "cvrsync.labels" . | nindent 4 }}
  annotations:
    # A changed configuration starts the pods anew.
    cvrsync/config: {{ toYaml .Values.config | sha256sum | quote }}
    {{- with .Values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  automountServiceAccountToken: false
  # Longer than preStop and the 25 s in which the daemon gives its work back.
  terminationGracePeriodSeconds: 45
  securityContext:
    runAsNonRoot: true
    runAsUser: 1000
    runAsGroup: 1000
    fsGroup: 1000
    seccompProfile:
      type: RuntimeDefault
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: cvrsync
      {{- if .Values.image.digest }}
      image: {{ .Values.image.repository }}@{{ .Values.image.digest }}
      {{- else }}
      image: {{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
      {{- end }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      env:
        - name: CVRSYNC_CONFIG
          value: /etc/cvrsync/cvrsync.yaml
        {{- range $name, $source := .Values.secrets }}
        - name: {{ $name }}_FILE
          value: /run/secrets/cvrsync/{{ $name }}
        {{- end }}
      ports:
        - name: public
          containerPort: 8080
        - name: admin
          containerPort: 8081
      lifecycle:
        preStop:
          exec:
            # Until no proxy sends it new requests: a Service takes a moment to leave out a pod that stops.
            command: [sleep, "5"]
      startupProbe:
        httpGet:
          path: /live
          port: public
        # A store that is migrated answers when it is.
        periodSeconds: 5
        failureThreshold: 120
      livenessProbe:
        httpGet:
          path: /live
          port: public
        periodSeconds: 20
        timeoutSeconds: 5
      readinessProbe:
        httpGet:
          path: /ready
          port: public
        periodSeconds: 5
        timeoutSeconds: 5
      resources:
        {{- toYaml .Values.resources | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities:
          drop: [ALL]
      volumeMounts:
        - name: config
          mountPath: /etc/cvrsync
          readOnly: true
        - name: secrets
          mountPath: /run/secrets/cvrsync
          readOnly: true
        - name: tmp
          mountPath: /tmp
        - name: data
          mountPath: /app/data
  volumes:
    - name: config
      configMap:
        name: {{ .Release.Name }}
    - name: tmp
      emptyDir: {}
    {{- if hasPrefix "postgres" .Values.config.store }}
    - name: data
      emptyDir: {}
    {{- end }}
    - name: secrets
      projected:
        defaultMode: 288
        sources:
          {{- range $name, $source := .Values.secrets }}
          - secret:
              name: {{ $source.secret }}
              items:
                - key: {{ $source.key }}
                  path: {{ $name }}
          {{- end }}
{{- end -}}
