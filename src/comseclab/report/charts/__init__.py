"""All charts of the report, in the page's order. A new chart is one entry in one of these lists."""

from comseclab.report.charts import comparison, cost, latency
from comseclab.report.charts.base import Canvas, Chart

CHARTS = (comparison.CHARTS[0], *latency.CHARTS, comparison.CHARTS[1], *cost.CHARTS)

__all__ = ["CHARTS", "Canvas", "Chart"]
