#!/bin/sh
# Publishes one push message to PushFleet from a shell.
#
# Needs amqp-publish (apt install amqp-tools).
# Run: AMQP_URL=amqp://user:password@rabbitmq.example.com/%2F ./publish.sh
#
# For trying things out only. amqp-publish cannot set message_id, so there is no id to print and a message published
# twice is two pushes; it cannot set timestamp, so the message's age counts from its arrival at a worker; and it knows
# neither mandatory nor confirms, so its success means "sent", not "taken". Programs use one of the other examples.
set -eu

app=com.example.shop
lane=now # or bulk
expires_at=$(($(date +%s) + 3600))

amqp-publish --url="${AMQP_URL:-amqp://guest:guest@localhost:5672/%2F}" \
    --exchange=pushfleet --routing-key="$app.$lane" --persistent --content-type=application/json \
    --body='{
        "app": "'"$app"'",
        "tokens": ["00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0"],
        "push_type": "alert",
        "priority": 10,
        "collapse_id": "order-17",
        "expires_at": '"$expires_at"',
        "payload": { "aps": { "alert": { "title": "On its way", "body": "Order 17 has left our house." } } }
    }'

echo 'sent (unconfirmed, without a message id)'
