"""Enumerations: values that are equal only to themselves."""

from __future__ import annotations


class EnumValue:
    def __init__(self, enum, name) -> None:
        self._enum, self._name = enum, name

    def __repr__(self):
        return f"{self._enum}.{self._name}"

    def name(self):
        return self._name


def _enum(name, *members):
    return type(name, (), {member: EnumValue(name, member) for member in members})


hipFileEventType = _enum(
    "hipFileEventType",
    *("BeforeClear", "AfterClear", "BeforeLoad", "AfterLoad"),
    *("BeforeMerge", "AfterMerge", "BeforeSave", "AfterSave"),
)
nodeEventType = _enum("nodeEventType", "ChildCreated", "ChildDeleted", "NameChanged")
playbarEvent = _enum("playbarEvent", "Started", "Stopped", "FrameChanged")
licenseCategoryType = _enum(
    "licenseCategoryType", "Commercial", "Indie", "Apprentice", "ApprenticeHD", "Education"
)
orientUpAxis = _enum("orientUpAxis", "Y", "Z")
exprLanguage = _enum("exprLanguage", "Hscript", "Python")
severityType = _enum("severityType", "Message", "ImportantMessage", "Warning", "Error", "Fatal")
paneTabType = _enum("paneTabType", "SceneViewer", "PythonPanel", "NetworkEditor")
glShadingType = _enum("glShadingType", "Wire", "WireGhost", "Flat", "Smooth", "SmoothWire")
displaySetType = _enum(
    "displaySetType",
    *("SceneObject", "SelectedObject", "GhostObject", "DisplayModel", "CurrentModel"),
    "TemplateModel",
)
stringParmType = _enum(
    "stringParmType", "Regular", "FileReference", "NodeReference", "NodeReferenceList"
)
parmTemplateType = _enum(
    "parmTemplateType",
    *("Int", "Float", "String", "Toggle", "Menu", "Button", "FolderSet", "Separator"),
    *("Label", "Ramp", "Data", "Folder"),
)
parmNamingScheme = _enum("parmNamingScheme", "XYZW", "RGBA", "UVW", "MinMax", "Base1")
