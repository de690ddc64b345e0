"""The streaming engine: all stages at once, on different tasks, in pools of Ray actors.

- ``engine`` decides: it takes events and returns actions, and knows neither Ray nor a clock.
- ``shell`` carries the actions out on Ray and reports what happens as events.
- ``simulate`` carries them out in virtual time.
- ``observe`` shows people what a run is doing.
"""
