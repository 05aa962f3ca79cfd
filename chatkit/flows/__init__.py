"""Flows: interactive form documents of the upstream platform (API document, Flow)."""

from chatkit.flows.resource import Flow, FlowBody, Flows

__all__ = ["Flow", "FlowBody", "Flows"]
