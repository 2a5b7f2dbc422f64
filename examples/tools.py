"""What the functions used in the examples do, in one line each: what a manual would say, not what bites."""

from contramem.traces.trajectory import Effect

DESCRIPTIONS = {
    # VehicleControlAPI
    "adjustClimateControl": "Set cabin temperature, fan speed and climate mode.",
    "displayCarStatus": "Show one part of the car's state: fuel, doors, climate, headlights, engine and so on.",
    "fillFuelTank": "Add fuel to the tank; the amount is in gallons.",
    "lockDoors": "Lock the named doors, or unlock them.",
    "pressBrakePedal": "Press the brake pedal to a position between 0 and 1.",
    "setCruiseControl": "Switch cruise control on or off, with a speed and a gap in metres.",
    "setHeadlights": "Switch the headlights on, off or to automatic.",
    "set_navigation": "Set the navigation to a destination given as street, city, state.",
    "startEngine": "Start or stop the engine, by ignition mode START or STOP.",
    # GorillaFileSystem
    "cat": "Show the content of a file in the current folder.",
    "cd": "Change the current folder.",
    "cp": "Copy a file or folder within the current folder, or into one of its folders.",
    "echo": "Write text to a file in the current folder, or just show it.",
    "find": "Search names below a folder.",
    "ls": "List the current folder.",
    "mkdir": "Create a folder in the current folder.",
    "mv": "Move or rename a file or folder of the current folder.",
    "touch": "Create an empty file in the current folder.",
    # TicketAPI
    "close_ticket": "Close the ticket with this id.",
    "create_ticket": "Open a ticket with title, description and a priority from 1 to 5.",
    "edit_ticket": "Change title, description, status or priority of a ticket.",
    "get_ticket": "Show the ticket with this id.",
    "get_user_tickets": "List the tickets of the current user, optionally of one status.",
    "resolve_ticket": "Mark a ticket as resolved, with the resolution in words.",
    "ticket_login": "Sign in to the ticket system.",
    # TwitterAPI
    "authenticate_twitter": "Sign in with user name and password.",
    "comment": "Comment on a post.",
    "follow_user": "Follow a user.",
    "get_tweet_comments": "List the comments on a post.",
    "get_user_stats": "Count the posts, follows and shares of a user.",
    "list_all_following": "List whom the current user follows.",
    "post_tweet": "Publish a post. Tags start with '#', mentions with '@'.",
    "retweet": "Share a post.",
    "search_tweets": "Find posts by a word in their text or tags.",
    # TradingBot
    "add_to_watchlist": "Put a symbol on the watchlist.",
    "cancel_order": "Cancel the order with this id.",
    "get_order_details": "Show one order: kind, symbol, price, amount and status.",
    "get_order_history": "List the ids of all orders of the account.",
    "get_stock_info": "Show price, change, volume and averages of a symbol.",
    "get_symbol_by_name": "Find the symbol of a company.",
    "place_order": "Place a Buy or Sell order for a symbol at a price.",
    "trading_login": "Sign in to the trading account.",
    # TravelAPI
    "authenticate_travel": "Sign in to the travel system and get an access token.",
    "book_flight": "Book a flight on a registered card, between two airport codes.",
    "cancel_booking": "Cancel a booking and pay it back.",
    "get_all_credit_cards": "List the registered cards with their balances.",
    "get_booking_history": "List all bookings by booking id.",
    "get_nearest_airport_by_city": "Find the airport code of a city.",
    # MessageAPI
    "add_contact": "Add a person to the workspace.",
    "delete_message": "Delete the latest message sent to a receiver.",
    "get_user_id": "Find the user id of a person in the workspace.",
    "message_login": "Sign in to the messenger by user id.",
    "send_message": "Send a text to a receiver by user id.",
    "view_messages_sent": "List the messages sent, by receiver.",
}

# Verbs that contramem's lexicon does not know.
EFFECTS: dict[str, Effect] = {
    "adjustClimateControl": "write",
    "authenticate_travel": "write",
    "authenticate_twitter": "write",
    "comment": "write",
}
