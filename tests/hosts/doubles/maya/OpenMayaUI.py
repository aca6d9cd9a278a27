"""``maya.OpenMayaUI``: access to Maya's Qt windows."""

from __future__ import annotations

from ._session import session


class MQtUtil:
    @staticmethod
    def getCurrentParent() -> int:
        import shiboken6 as shiboken

        session.guard("MQtUtil.getCurrentParent")
        return shiboken.getCppPointer(session.windows["building"])[0]

    @staticmethod
    def addWidgetToMayaLayout(widget: int, parent: int) -> bool:
        import shiboken6 as shiboken
        from PySide6.QtWidgets import QWidget

        session.guard("MQtUtil.addWidgetToMayaLayout")
        shiboken.wrapInstance(parent, QWidget).layout().addWidget(
            shiboken.wrapInstance(widget, QWidget)
        )
        return True
