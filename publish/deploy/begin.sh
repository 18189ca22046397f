# Bring the learner's copies of the notebooks up to date, then serve them.
python scripts/work.py && exec jupyterhub-singleuser "$@"
