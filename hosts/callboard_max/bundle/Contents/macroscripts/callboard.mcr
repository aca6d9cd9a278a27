-- What the Callboard menu offers; the artist may put these on toolbars and keys too. Without the last
-- word, 3ds Max would clear what the artist can undo.
macroScript CallboardOpen
	category:"Callboard"
	buttonText:"Open Callboard"
	tooltip:"Open Callboard's panel"
(
	on execute do python.Execute "from callboard_max.plugin import plug_in; plug_in.show_panel()" clearUndoBuffer:false
)

macroScript CallboardStart
	category:"Callboard"
	buttonText:"Start"
	tooltip:"Start Callboard's server"
(
	on execute do python.Execute "from callboard_max.plugin import plug_in; plug_in.start()" clearUndoBuffer:false
)

macroScript CallboardStop
	category:"Callboard"
	buttonText:"Stop"
	tooltip:"Stop Callboard's server"
(
	on execute do python.Execute "from callboard_max.plugin import plug_in; plug_in.stop()" clearUndoBuffer:false
)

macroScript CallboardCopyUrl
	category:"Callboard"
	buttonText:"Copy URL"
	tooltip:"Copy the address of Callboard's server"
(
	on execute do python.Execute "from callboard_max.plugin import plug_in; plug_in.copy_url()" clearUndoBuffer:false
)

macroScript CallboardSelfTest
	category:"Callboard"
	buttonText:"Self-test"
	tooltip:"Try what Callboard does in this 3ds Max"
(
	on execute do python.Execute "from callboard_max.plugin import plug_in; plug_in.self_test()" clearUndoBuffer:false
)

macroScript CallboardAutostart
	category:"Callboard"
	buttonText:"Switch Start with 3ds Max On or Off"
	tooltip:"Whether Callboard's server starts with 3ds Max"
(
	on execute do python.Execute "from callboard_max.plugin import plug_in; plug_in.toggle_autostart()" clearUndoBuffer:false
)
