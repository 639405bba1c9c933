"""Launch lines of an engine in somebody's own files: shell, Dockerfile, compose, Kubernetes, Helm values."""
